import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { About, field, Optional } from '../../../common/body/fields.js';
import { toDisplayName } from '../../../common/text/display-name.js';
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

/** A name that a device gives for itself: truncated and cleaned, never rejected. */
function DeviceName(maxLength: number): PropertyDecorator {
  const clean = (value: unknown) => (typeof value === 'string' ? toDisplayName(value, maxLength) : value);
  return applyDecorators(
    Transform(({ value }) => clean(value)),
    Optional(),
    AnyText(),
  );
}

export class BeginDeviceSessionDto {
  @About(
    'Name of the tool, shown to the person who approves. Longer names are truncated to 64 characters.',
    'mint CLI',
  )
  @DeviceName(NAME_MAX_LENGTH)
  name?: string;

  @About('Name of the machine. Longer names are truncated to 253 characters.', 'adas-laptop')
  @DeviceName(HOSTNAME_MAX_LENGTH)
  hostname?: string;
}

export class PollDto {
  @About('The `device_code` of the response that began the flow.', '{device_code}')
  @AnyText()
  device_code: string;
}
