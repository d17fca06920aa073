import { Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../../common/api/operation.js';
import { OwnedController } from '../../organizations/scope/owner-scope.js';
import type { UsageRequestsResponse } from './dto/usage-requests.response.js';
import type { UsageResponse } from './dto/usage.response.js';
import { requestsCsv, summaryCsv } from './usage-csv.js';
import { Formatter } from './usage-formatter.js';
import type { UsageFormatter } from './usage-formatter.js';
import { REQUESTS_DETAILS, SUMMARY_DETAILS } from './usage-operations.js';
import { OwnerOfUsage } from './usage-owner.js';
import type { UsageOwner } from './usage-owner.js';
import { UsagePageParameters } from './usage-page.js';
import type { UsagePage } from './usage-page.js';
import { SelectionParameters, UsageParameters } from './usage-query.js';
import type { RequestSelection, UsageQuery } from './usage-query.js';
import { UsageRequestsService } from './usage-requests.service.js';
import { UsageSummaryService } from './usage-summary.service.js';

/** Usage of all keys of the caller, personal and team, or of all keys of an organization, for every member. */
@ApiTags('Usage')
@OwnedController('usage')
export class UsageController {
  constructor(
    private readonly summaries: UsageSummaryService,
    private readonly records: UsageRequestsService,
  ) {}

  @Operation('summarizeUsage', 'Sum up usage', SUMMARY_DETAILS)
  @Get()
  async summarize(
    @OwnerOfUsage() owner: UsageOwner,
    @UsageParameters() query: UsageQuery,
    @Formatter() formatter: UsageFormatter,
  ): Promise<UsageResponse | string> {
    const summary = await this.summaries.summarize(owner, query);
    return formatter.format(summary, (body) => summaryCsv(body, query.groupBy));
  }

  @Operation('listUsageRequests', 'List requests', REQUESTS_DETAILS)
  @Get('requests')
  async requests(
    @OwnerOfUsage() owner: UsageOwner,
    @SelectionParameters() selection: RequestSelection,
    @UsagePageParameters() page: UsagePage,
    @Formatter() formatter: UsageFormatter,
  ): Promise<UsageRequestsResponse | string> {
    return formatter.formatPage(await this.records.page(owner, selection, page), requestsCsv);
  }
}
