import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Encryption } from '../common/encryption.js';
import { Settings } from './settings.js';

/** Makes the settings, and what is encrypted under their keys, available everywhere. */
@Module({})
export class ConfigModule {
  static with(settings: Settings): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Encryption, useValue: new Encryption(settings.encryptionKeys) },
      ],
      exports: [Settings, Encryption],
    };
  }
}
