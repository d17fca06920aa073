import { Violation } from '../../common/body/nested-field.js';
import { isPatternText, PATTERN_MAX } from '../../common/text/model-pattern.js';
import type { ModelRule } from './model-rules.js';

export const RULES_MAX = 500;
/** Statuses that `failover_on` may contain. */
export const FAILOVER_STATUSES = [401, 402, 403, 404, 408, 409, 413, 429];

/** Parses the member `models` of a request. @returns null for every model */
export function parseModelRules(value: unknown): readonly ModelRule[] | null | Violation {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length === 0 || value.length > RULES_MAX)
    return new Violation(`must be null or a list of 1 to ${RULES_MAX} rules`);
  const rules: ModelRule[] = [];
  const patterns = new Set<string>();
  for (const [i, given] of (value as unknown[]).entries()) {
    const rule = parseRule(given);
    if (rule instanceof Violation) return new Violation(`is invalid: rule ${i + 1} ${rule.message}`);
    if (patterns.has(rule.model))
      return new Violation(`is invalid: rule ${i + 1} repeats the pattern of another rule`);
    patterns.add(rule.model);
    rules.push(rule);
  }
  return rules;
}

function parseRule(given: unknown): ModelRule | Violation {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return new Violation('must be an object with model and as');
  const { model, as = null } = given as { model?: unknown; as?: unknown };
  if (!isPatternText(model)) return new Violation(`needs a model ${TEXT}`);
  if (as === null) return { model, as };
  if (!isPatternText(as)) return new Violation(`needs an as ${TEXT}, or null`);
  return hasPlacedStar(model, as) ? { model, as } : new Violation(MISPLACED_STAR);
}

const MISPLACED_STAR = 'may have a * in as only if model has exactly one *; as may have one';

function hasPlacedStar(model: string, as: string): boolean {
  return starsOf(as) === 0 || (starsOf(as) === 1 && starsOf(model) === 1);
}

const TEXT = `of 1 to ${PATTERN_MAX} characters without control characters`;

function starsOf(text: string): number {
  return text.split('*').length - 1;
}

/** Parses the member `failover_on` of a request. */
export function parseFailoverStatuses(value: unknown): readonly number[] | Violation {
  const isList =
    Array.isArray(value) && value.every((status) => FAILOVER_STATUSES.includes(status as number));
  if (isList && new Set(value).size === value.length) return value as number[];
  return new Violation(`must be a list of different statuses out of ${FAILOVER_STATUSES.join(', ')}`);
}
