import type { AccountRules } from '@recordbus/accounts';
import type { Captchas } from '@recordbus/captcha';
import type { FieldEncryption } from '@recordbus/schema';
import type { WriteHooks } from './write-hooks.ts';

/** What writes check and change in addition to the collection's rules. */
export interface WriteRules extends AccountRules {
  /** Encrypts and hashes secret fields' values. */
  readonly encryption: FieldEncryption;
  readonly hooks: WriteHooks;
  readonly captchas: Captchas;
}
