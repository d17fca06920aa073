import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { About, field, Optional } from '../../common/fields.js';
import { toShownName } from '../../common/shown-name.js';
import { HOSTNAME_MAX_LENGTH, NAME_MAX_LENGTH } from '../device-flow.js';

/** Any string. */
function AnyText(): PropertyDecorator {
  return field({
    name: 'anyText',
    test: (value) => typeof value === 'string',
    expects: 'must be a string',
    schema: { type: 'string' },
  });
}

/** What a device calls itself: cut and cleaned, never refused. */
function DeviceName(maxLength: number): PropertyDecorator {
  const clean = (value: unknown) => (typeof value === 'string' ? toShownName(value, maxLength) : value);
  return applyDecorators(
    Transform(({ value }) => clean(value)),
    Optional(),
    AnyText(),
  );
}

export class BeginDeviceSessionDto {
  @About('The tool, for the person who approves; longer ones are cut to 64 characters.', 'mint CLI')
  @DeviceName(NAME_MAX_LENGTH)
  name?: string;

  @About('The machine; longer ones are cut to 253 characters.', 'adas-laptop')
  @DeviceName(HOSTNAME_MAX_LENGTH)
  hostname?: string;
}

export class PollDto {
  @About('The secret that the flow began with.', '{device_code}')
  @AnyText()
  device_code: string;
}
