import type { Query } from '@recordbus/database';
import type { LiveCaller } from '@recordbus/live';
import {
  callerCollection,
  channelColumn,
  compileChannelRule,
  createNamedParameters,
  QueryError,
  type QuerySchema,
} from '@recordbus/query';
import type { Rule } from '@recordbus/schema';
import { isOpenTo } from '../rules/authorize.ts';
import { requestValuesOf } from './live-plans.ts';

/** Whether a channel rule admits the caller. An invalid rule admits only admins. */
export async function admitsToChannel(
  { read, schema }: { readonly read: Query; readonly schema: QuerySchema },
  rule: Rule,
  channel: string,
  caller: LiveCaller,
): Promise<boolean> {
  const { principal } = caller;
  if (rule === null || isOpenTo(rule, principal)) return true;
  if (rule === '') return false;
  const parameters = createNamedParameters<{ readonly channel: string }>();
  try {
    const context = { schema, caller: callerCollection(principal, schema) };
    const condition = compileChannelRule(rule, context, { row: 'c', parameters });
    const text = `select (${condition}) is true as admits from (select ${parameters.named('channel', 'text')} as ${channelColumn}) c`;
    const [row] = await read<{ admits: boolean }>({
      text,
      values: parameters.valuesFrom({ channel }, requestValuesOf(caller)),
    });
    return row?.admits === true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}
