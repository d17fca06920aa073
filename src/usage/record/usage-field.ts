import { FLAG, ID, orNull, SUM, text } from '../../common/api/members.js';
import type { MemberSchema } from '../../common/api/members.js';

/**
 * Form of a field in a journal line. `verbatim` texts are ids, times and words that mintkeep chooses: they contain
 * visible ASCII only. `escaped` texts come from clients and upstreams.
 */
export type FieldEncoding = 'verbatim' | 'escaped' | 'number' | 'flag' | 'attempts';

/** Definition of one member of a usage record. `T` is the type of its values. */
export interface UsageField<T> {
  readonly sqlType: string;
  readonly encoding: FieldEncoding;
  readonly schema: MemberSchema;
  readonly description?: string;
  /** Roll-ups and summaries contain the sum of a summed field. Its column is nullable in both tables. */
  readonly isSummed: boolean;
  /** Carries the type and is never set. */
  readonly value?: T;
}

/** A field with a sum in roll-ups and summaries. */
export interface SummedField extends UsageField<number | null> {
  readonly isSummed: true;
}

/** A text that mintkeep chooses or has checked. */
export function word<T extends string>(
  schema: MemberSchema,
  description?: string,
  sqlType = 'text',
): UsageField<T> {
  return { sqlType, encoding: 'verbatim', schema, description, isSummed: false };
}

/** A text that may contain any character that PostgreSQL stores. */
export function freeText(schema: MemberSchema, description?: string): UsageField<string> {
  return { sqlType: 'text', encoding: 'escaped', schema, description, isSummed: false };
}

export function freeTextOrNull(example: string, description?: string): UsageField<string | null> {
  return freeText(orNull(text(example)), description);
}

export function id(description?: string): UsageField<number> {
  return { sqlType: 'bigint', encoding: 'number', schema: ID, description, isSummed: false };
}

export function idOrNull(description?: string): UsageField<number | null> {
  return { ...id(description), schema: orNull(ID) };
}

export function flag(description: string): UsageField<boolean> {
  return { sqlType: 'boolean', encoding: 'flag', schema: FLAG, description, isSummed: false };
}

export function integer(schema: MemberSchema, description: string): UsageField<number> {
  return { sqlType: 'integer', encoding: 'number', schema, description, isSummed: false };
}

/** Number of tokens; null when unknown. */
export function tokenCount(description?: string): SummedField {
  return { sqlType: 'bigint', encoding: 'number', schema: orNull(SUM), description, isSummed: true };
}

/** Amount of money; null when unknown. Stored exactly, and shown as the nearest number. */
export function money(schema: MemberSchema, description: string): SummedField {
  return { sqlType: 'numeric', encoding: 'number', schema: orNull(schema), description, isSummed: true };
}

/** Milliseconds. Roll-ups keep a histogram of each duration beside its sum. */
export function duration<T extends number | null>(schema: MemberSchema, description?: string): UsageField<T> {
  return { sqlType: 'double precision', encoding: 'number', schema, description, isSummed: false };
}
