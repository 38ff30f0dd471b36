import { quote } from '@scratchfs/core';
import { entriesOf, flag, readFields } from './plain-data.js';
import { TOOL_NAMES } from './tool-names.js';

/** A rule for a tool or for all tools of a kind. */
export interface ToolRule {
  /** Default true. */
  readonly allowed?: boolean | undefined;
  /** True if each call needs approval. Default false. Approvals that the sandbox requires stay required. */
  readonly approvalRequired?: boolean | undefined;
}

/** Rules by the name of a tool, or by `sandbox.read`, `sandbox.write` and `worker.call` for all of a kind. */
export type ToolRules = Readonly<Record<string, ToolRule>>;

const KINDS = ['sandbox.read', 'sandbox.write', 'worker.call'];

/**
 * Parses `tool_rules` from plain data, with fields in snake_case or camelCase, into a frozen copy.
 * @throws TypeError that names the rule, for unknown names and wrong types
 */
export function parseToolRules(data: unknown): ToolRules {
  const known: readonly string[] = [...KINDS, ...TOOL_NAMES];
  const rules = Object.create(null) as Record<string, ToolRule>;
  for (const [name, rule] of entriesOf(data, 'tool_rules')) {
    if (!known.includes(name)) throw new TypeError(`tool_rules knows no ${quote(name)}. It takes ${known.join(', ')}`);
    rules[name] = readFields(rule, `tool_rules.${name}`, { allowed: flag, approvalRequired: flag }) as ToolRule;
  }
  return Object.freeze(rules);
}

/** Combines several rules: the action is allowed if all allow it, and needs approval if any requires it. */
export function ruleOf(
  rules: ToolRules,
  names: readonly string[],
): { readonly allowed: boolean; readonly approvalRequired: boolean } {
  const found = names.map((name) => rules[name]);
  return {
    allowed: found.every((rule) => rule?.allowed !== false),
    approvalRequired: found.some((rule) => rule?.approvalRequired === true),
  };
}
