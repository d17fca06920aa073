import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Settings } from './settings.js';

/** Makes the settings injectable everywhere. */
@Module({})
export class ConfigModule {
  static with(settings: Settings): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: Settings, useValue: settings }],
      exports: [Settings],
    };
  }
}
