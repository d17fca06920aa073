import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../common/operation.js';
import { Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import type { UsageRequestsResponse } from './dto/usage-requests.response.js';
import type { UsageResponse } from './dto/usage.response.js';
import { Answer } from './usage-answer.js';
import type { UsageAnswer } from './usage-answer.js';
import { requestsCsv, summaryCsv } from './usage-csv.js';
import { REQUESTS_DETAILS, SUMMARY_DETAILS } from './usage-operations.js';
import { UsagePageParameters } from './usage-page.js';
import type { UsagePage } from './usage-page.js';
import { SelectionParameters, UsageParameters } from './usage-query.js';
import type { UsageQuery, UsageSelection } from './usage-query.js';
import { UsageRequestsService } from './usage-requests.service.js';
import { UsageSummaryService } from './usage-summary.service.js';

/** What all keys of an organization have used: every member may know. */
@ApiTags('Usage')
@Controller('me/organizations/:organizationId/usage')
export class OrganizationUsageController {
  constructor(
    private readonly summaries: UsageSummaryService,
    private readonly records: UsageRequestsService,
  ) {}

  @Operation('summarizeOrganizationUsage', 'Sum up the usage of an organization', SUMMARY_DETAILS)
  @Get()
  async summarize(
    @Scope() scope: OwnerScope,
    @UsageParameters() query: UsageQuery,
    @Answer() answer: UsageAnswer,
  ): Promise<UsageResponse | string> {
    const summary = await this.summaries.summarize(scope, query);
    return answer.give(summary, (body) => summaryCsv(body, query.groupBy));
  }

  @Operation('listOrganizationUsageRequests', 'List the requests of an organization', REQUESTS_DETAILS)
  @Get('requests')
  async requests(
    @Scope() scope: OwnerScope,
    @SelectionParameters() selection: UsageSelection,
    @UsagePageParameters() page: UsagePage,
    @Answer() answer: UsageAnswer,
  ): Promise<UsageRequestsResponse | string> {
    return answer.givePage(await this.records.page(scope, selection, page), requestsCsv);
  }
}
