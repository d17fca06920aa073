import { Column, CreateDateColumn, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import type { ColumnOptions } from 'typeorm';

/** Column type of times. TypeORM converts times that it reads to `Date`, but not those an insert returns. Here all are strings. */
const TIME: ColumnOptions = {
  type: 'timestamptz',
  precision: 3,
  transformer: {
    from: (time: Date | string | null) => (time instanceof Date ? time.toISOString() : time),
    to: (time: unknown) => time,
  },
};

/** Id that PostgreSQL assigns. */
export const Id = (): PropertyDecorator =>
  PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT' });

/** A time in the format of the API: ISO 8601 in UTC with milliseconds and `Z`. */
export const Time = (options: Pick<ColumnOptions, 'nullable'> = {}): PropertyDecorator =>
  Column({ ...TIME, ...options });

/** The {@link Time} of the insert, by the database's clock. */
export const CreatedAt = (): PropertyDecorator => CreateDateColumn(TIME);

/** The {@link Time} of the last change, by the database's clock. */
export const UpdatedAt = (): PropertyDecorator => UpdateDateColumn(TIME);

/**
 * SQL value of an `updated_at` column after a change: the current time, and at least 1 ms after the previous value.
 * Every change is visible in the column, even if the clock stands still or goes back.
 */
export const advancedUpdatedAt = (): string =>
  `greatest(clock_timestamp(), updated_at + interval '1 millisecond')`;
