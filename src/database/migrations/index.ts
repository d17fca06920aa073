import { Baseline1764600000000 } from './1764600000000-baseline.js';

/** Every later database has it recorded. */
export const BASELINE = Baseline1764600000000;

/** All migrations, oldest first. */
export const migrations = [BASELINE];
