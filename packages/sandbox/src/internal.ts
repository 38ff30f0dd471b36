export { denyRules, type Rule as DenyRule, SECRET_FILES } from './deny-patterns.js';
