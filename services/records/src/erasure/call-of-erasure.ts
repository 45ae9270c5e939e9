import type { Principal } from '@recordbus/request/context';
import { type Call, callOf, type RuleContext } from '../rules/rule-context.ts';

import type { ErasureJob } from './erasure.ts';

/** The call for an erasure's writes. No rule is checked: the request was admitted. */
export function callOfErasure(
  { actor, request }: Pick<ErasureJob, 'actor' | 'request'>,
  deps: Pick<RuleContext, 'schema'>,
): Call {
  const context = { ...request, principal: principalOf(actor) };
  return {
    ...callOf('DELETE', { context, queryText: () => undefined, header: () => undefined }, deps),
    passesRules: true,
  };
}

/** The product's own erasures run as an admin; their events say `system` (delete-for-good.ts). */
const principalOf = ({ type, id }: ErasureJob['actor']): Principal =>
  type === 'service' && id !== null
    ? { type: 'service', id, scopes: ['admin'] }
    : { type: 'admin', id: id ?? 'system', email: '' };
