import { adminVariables } from '@recordbus/admin/config';
import { authVariables } from '@recordbus/auth/config';
import { gatewayVariables } from '@recordbus/gateway/config';
import { host, logFormat, logLevel, port, type Variable } from '@recordbus/process/config';
import { realtimeVariables } from '@recordbus/realtime/config';
import { recordsVariables } from '@recordbus/records/config';
import { webhooksVariables } from '@recordbus/webhooks/config';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** Each service's variables, in addition to every process's. */
const services: Readonly<Record<string, Readonly<Record<string, Variable>>>> = {
  gateway: gatewayVariables,
  auth: authVariables,
  records: recordsVariables,
  admin: adminVariables,
  webhooks: webhooksVariables,
  realtime: realtimeVariables,
};

/** Builds the table with every service's environment variables, from their declarations. */
export const variablesSection: Section = {
  page: 'configuration.md',
  name: 'variables',
  text() {
    const readers = new Map<Variable, string[]>(
      [port, host, logLevel, logFormat].map((variable) => [variable, Object.keys(services)]),
    );
    for (const [service, variables] of Object.entries(services)) {
      for (const variable of Object.values(variables))
        readers.set(variable, [...(readers.get(variable) ?? []), service]);
    }
    return table(
      ['variable', 'default', 'read by', 'meaning'],
      [...readers].map(([variable, names]) => [
        code(variable.name),
        defaultOf(variable),
        names.length === Object.keys(services).length ? 'all' : names.join(', '),
        variable.about,
      ]),
    );
  },
};

function defaultOf({ schema }: Variable): string {
  const unset = schema.safeParse(undefined);
  if (!unset.success) return 'must be set';
  const text = Array.isArray(unset.data) ? unset.data.join(',') : String(unset.data ?? '');
  return text === '' ? '' : code(text);
}
