import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { Operation } from '../common/operation.js';
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

/** What all of the caller's keys have used, personal and team. */
@ApiTags('Usage')
@Controller('me/usage')
export class UsageController {
  constructor(
    private readonly summaries: UsageSummaryService,
    private readonly records: UsageRequestsService,
  ) {}

  @Operation('summarizeUsage', 'Sum up your usage', SUMMARY_DETAILS)
  @Get()
  async summarize(
    @CurrentUser() user: SessionUser,
    @UsageParameters() query: UsageQuery,
    @Answer() answer: UsageAnswer,
  ): Promise<UsageResponse | string> {
    const summary = await this.summaries.summarize({ userId: user.id }, query);
    return answer.give(summary, (body) => summaryCsv(body, query.groupBy));
  }

  @Operation('listUsageRequests', 'List your requests', REQUESTS_DETAILS)
  @Get('requests')
  async requests(
    @CurrentUser() user: SessionUser,
    @SelectionParameters() selection: UsageSelection,
    @UsagePageParameters() page: UsagePage,
    @Answer() answer: UsageAnswer,
  ): Promise<UsageRequestsResponse | string> {
    return answer.givePage(await this.records.page({ userId: user.id }, selection, page), requestsCsv);
  }
}
