import { About, IdField, Optional } from '../../common/fields.js';

export class ApproveDeviceDto {
  @About('Whose pool the key will use; the personal organization when left out.')
  @Optional()
  @IdField()
  organization_id?: number;
}
