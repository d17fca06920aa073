import { IdField, Optional } from '../../common/fields.js';

export class ApproveDeviceDto {
  /** Whose pool the key will use; the personal organization when left out. */
  @Optional()
  @IdField()
  organization_id?: number;
}
