export { isDotGit } from './objects/entry-name.js';
