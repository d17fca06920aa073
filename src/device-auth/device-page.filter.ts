import { Catch, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ErrorFilter } from '../common/error.filter.js';
import type { Refusal } from '../common/error.filter.js';
import { sendPage } from '../common/page.js';
import { DeviceRefusalPages } from './device-refusal-pages.js';

/** People are told what is wrong by a page. */
@Catch()
@Injectable()
export class DevicePageFilter extends ErrorFilter {
  constructor(private readonly pages: DeviceRefusalPages) {
    super();
  }

  protected override present(refusal: Refusal, response: Response): void {
    sendPage(response, refusal.status, this.pages.of(refusal));
  }
}
