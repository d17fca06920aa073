import { asObject } from '../json/json-object.js';
import type { ProviderUsage } from './token-counts.js';

/** Maximum number of figures; providers report about ten. */
const FIGURES_LIMIT = 100;
const NAME_LIMIT = 64;
/** Maximum nesting: details of a usage object, and passes with their own details. */
const DEPTH_LIMIT = 3;

/**
 * Merges the figures that the events of one stream report. Later figures win; null is ignored. The result is bounded,
 * because an upstream can invent a new member in every event.
 */
export function mergeUsage(earlier: ProviderUsage | undefined, reported: ProviderUsage): ProviderUsage {
  const budget = { left: FIGURES_LIMIT };
  const latest = pickFigures(reported, DEPTH_LIMIT, budget);
  if (!earlier) return latest;
  const names = new Set(Object.keys(latest));
  const others = Object.entries(earlier).filter(([name]) => !names.has(name));
  return { ...pickFigures(Object.fromEntries(others), DEPTH_LIMIT, budget), ...latest };
}

interface Budget {
  left: number;
}

function pickFigures(usage: ProviderUsage, depth: number, budget: Budget): ProviderUsage {
  const figures: [string, unknown][] = [];
  for (const name of Object.keys(usage)) {
    if (budget.left <= 0) break;
    const value = name.length > NAME_LIMIT ? undefined : pickFigure(usage[name], depth, budget);
    if (value !== undefined) figures.push([name, value]);
  }
  return Object.fromEntries(figures);
}

function pickFigure(value: unknown, depth: number, budget: Budget): unknown {
  budget.left--;
  if (typeof value === 'number') return value;
  if (depth === 0) return undefined;
  if (!Array.isArray(value)) {
    const object = asObject(value);
    return object && pickFigures(object, depth - 1, budget);
  }
  const passes: unknown[] = [];
  for (const pass of value as unknown[]) {
    if (budget.left <= 0) break;
    const figure = pickFigure(pass, depth - 1, budget);
    if (figure !== undefined) passes.push(figure);
  }
  return passes;
}
