import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Encryption } from '../common/crypto/encryption.js';
import { Settings } from './settings.js';

/** Provides the settings, and the encryption with their keys, to all modules. */
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
