import { Column, CreateDateColumn, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import type { ColumnOptions } from 'typeorm';

/** TypeORM makes a Date of a time that it reads, but not of one that an insert returns: we have texts always. */
const TIME: ColumnOptions = {
  type: 'timestamptz',
  precision: 3,
  transformer: {
    from: (time: Date | string | null) => (time instanceof Date ? time.toISOString() : time),
    to: (time: unknown) => time,
  },
};

/** An id that PostgreSQL assigns. */
export const Id = (): PropertyDecorator =>
  PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT' });

/** A time as the API shows it: ISO 8601 in UTC with milliseconds and `Z`. */
export const Time = (options: Pick<ColumnOptions, 'nullable'> = {}): PropertyDecorator =>
  Column({ ...TIME, ...options });

/** The {@link Time} of the insert, by the database's clock. */
export const CreatedAt = (): PropertyDecorator => CreateDateColumn(TIME);

/** The {@link Time} of the last change, by the database's clock. */
export const UpdatedAt = (): PropertyDecorator => UpdateDateColumn(TIME);
