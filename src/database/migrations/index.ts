import { Baseline1764600000000 } from './1764600000000-baseline.js';
import { SpendControl1764700000000 } from './1764700000000-spend-control.js';

/** Every later database has it recorded. */
export const BASELINE = Baseline1764600000000;

/** All migrations, oldest first. */
export const migrations = [BASELINE, SpendControl1764700000000];
