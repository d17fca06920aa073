import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsString } from 'class-validator';
import { Optional } from '../../common/fields.js';
import { HOSTNAME_MAX_LENGTH, NAME_MAX_LENGTH, toShownName } from '../device-name.js';

/** What a device calls itself: cut and cleaned, never refused. */
function DeviceName(maxLength: number): PropertyDecorator {
  const clean = (value: unknown) => (typeof value === 'string' ? toShownName(value, maxLength) : value);
  return applyDecorators(
    Transform(({ value }) => clean(value)),
    Optional(),
    IsString(),
  );
}

export class BeginDeviceSessionDto {
  /** The tool, for the person who approves; longer ones are cut to 64 characters. */
  @DeviceName(NAME_MAX_LENGTH)
  name?: string;

  /** The machine; longer ones are cut to 253 characters. */
  @DeviceName(HOSTNAME_MAX_LENGTH)
  hostname?: string;
}

export class PollDto {
  @IsString()
  device_code: string;
}
