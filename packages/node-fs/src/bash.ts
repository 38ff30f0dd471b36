export { createBashFs } from './bash/create-bash-fs.js';
