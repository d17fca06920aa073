import { LRUCache } from 'lru-cache';
import { ModelPattern, PatternList } from '../../common/text/model-pattern.js';
import { limitsAnything } from './limit-set.js';
import type { Budget, LimitSet } from './limit-set.js';

const LEVELS = ['organization', 'member', 'key'] as const;
/** Level of a limit set; all sets of the three levels apply to a key. */
export type Level = (typeof LEVELS)[number];

/** Key that limits apply to. */
export interface LimitedKey {
  readonly id: number;
  readonly organizationId: number;
  readonly userId: string;
}

/** Keys that the limits of one level count together: those of an organization, of a member of one, or one key. */
export interface LimitScope {
  readonly level: Level;
  /** Unique name. */
  readonly name: string;
  readonly organizationId: number;
  /** Null for an organization. */
  readonly userId: string | null;
  /** Null for an organization or a member. */
  readonly keyId: number | null;
}

/** Limits of one level of a key; at least one is not null. */
export interface LevelLimits extends LimitScope {
  /** Null for no limit. */
  readonly requestsPerMinute: number | null;
  /** Input and output tokens; null for no limit. */
  readonly tokensPerMinute: number | null;
  /** Costs of a period in USD; null for no limit. */
  readonly budget: Budget | null;
  /** Patterns of the models that may be used; null for all models. */
  readonly models: PatternList | null;
  /** Number of the read that found the limits: later reads have larger numbers. */
  readonly version: number;
}

let versions = 0;

/** Numbers a read of limits that is about to begin. */
export function nextLimitsVersion(): number {
  return ++versions;
}

/** Scope of a key at a level. */
export function scopeOf(level: Level, { id, organizationId, userId }: LimitedKey): LimitScope {
  if (level === 'organization')
    return { level, name: `organization ${organizationId}`, organizationId, userId: null, keyId: null };
  if (level === 'member')
    return { level, name: `member ${organizationId} ${userId}`, organizationId, userId, keyId: null };
  return { level, name: `key ${id}`, organizationId, userId, keyId: id };
}

/** All limits that apply to one key. */
export class AppliedLimits {
  constructor(readonly levels: readonly LevelLimits[]) {}

  /** Whether a level restricts the models. */
  get areModelsRestricted(): boolean {
    return this.levels.some(({ models }) => models !== null);
  }

  /** @returns the first level that does not allow a model; every level with patterns for a request without a model */
  findForbidding(model: string | undefined): LevelLimits | undefined {
    return this.levels.find(({ models }) => models && (model === undefined || models.find(model) < 0));
  }
}

/** Limit sets of the levels of one key, as JSON text; null for none. */
export type LimitTexts = Readonly<Record<Level, string | null>>;

/**
 * Compiles the limits of a key.
 * @param version {@link nextLimitsVersion} before the limits were read
 * @returns undefined if nothing is limited
 */
export function applyLimits(key: LimitedKey, texts: LimitTexts, version: number): AppliedLimits | undefined {
  const levels = LEVELS.flatMap((level): LevelLimits[] => {
    const text = texts[level];
    const compiled = text === null ? undefined : compile(text);
    return compiled ? [{ ...scopeOf(level, key), ...compiled, version }] : [];
  });
  return levels.length === 0 ? undefined : new AppliedLimits(levels);
}

type Compiled = Omit<LevelLimits, keyof LimitScope | 'version'>;

const CACHED_SETS = 1_000;
/** Keys of an organization share its sets. */
const compiledSets = new LRUCache<string, { readonly set: Compiled | undefined }>({ max: CACHED_SETS });

function compile(text: string): Compiled | undefined {
  const known = compiledSets.get(text);
  if (known) return known.set;
  const limits = JSON.parse(text) as LimitSet;
  const patterns = limits.models?.map((pattern) => new ModelPattern(pattern));
  const set = limitsAnything(limits)
    ? {
        requestsPerMinute: limits.requests_per_minute,
        tokensPerMinute: limits.tokens_per_minute,
        budget: limits.budget,
        models: patterns ? new PatternList(patterns) : null,
      }
    : undefined;
  compiledSets.set(text, { set });
  return set;
}
