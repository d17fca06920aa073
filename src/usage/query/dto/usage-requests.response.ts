import { ApiMember, listOf, orNull, text } from '../../../common/api/members.js';
import { USAGE_FIELDS } from '../../record/usage-record.js';
import { withFields } from './with-fields.js';

/** Usage record of a request to the proxy. Never contains prompts or responses. */
export class UsageRequestResponse extends withFields(USAGE_FIELDS, Object) {}

export class UsageRequestsResponse {
  @ApiMember(listOf(UsageRequestResponse), 'Newest first.')
  requests: UsageRequestResponse[];

  @ApiMember(orNull(text('MjAyNi0wMS0zMQ')), 'Null on the last page.')
  next_cursor: string | null;
}
