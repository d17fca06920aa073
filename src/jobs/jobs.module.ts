import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobTurn } from './job-turn.entity.js';
import { JobTurns } from './job-turns.js';
import { Jobs } from './jobs.js';

/** Scheduled jobs, each run by one replica at a time. */
@Global()
@Module({ imports: [TypeOrmModule.forFeature([JobTurn])], providers: [Jobs, JobTurns], exports: [Jobs] })
export class JobsModule {}
