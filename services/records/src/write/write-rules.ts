import type { FieldSealing } from '@recordbus/schema';
import type { AccountRules } from '../accounts/account-rules.ts';
import type { WriteHooks } from './write-hooks.ts';

/** What writes ask and keep to besides the rules of the collection. */
export interface WriteRules extends AccountRules {
  /** Of what is kept of secrets. */
  readonly sealing: FieldSealing;
  readonly hooks: WriteHooks;
}
