import type { FieldEncryption } from '@recordbus/schema';
import type { AccountRules } from '../accounts/account-rules.ts';
import type { WriteHooks } from './write-hooks.ts';

/** The checks and changes of writes in addition to the rules of the collection. */
export interface WriteRules extends AccountRules {
  /** Encrypts and hashes the values of secret fields. */
  readonly encryption: FieldEncryption;
  readonly hooks: WriteHooks;
}
