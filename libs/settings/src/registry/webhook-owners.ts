import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { jsonText, settingObject } from './json-text.ts';
import { unsetSetting } from './setting.ts';

/** Which webhooks the records of a collection may own (webhooks §9.1). */
export interface WebhookOwners {
  /** Who manages a record's webhooks: an expression over the record and the caller, or `""` for admins only. */
  readonly manage_rule: string;
  /** Patterns of the events that the webhooks may get. */
  readonly events: readonly string[];
  /** The most webhooks of one record. */
  readonly max: number;
  /** The hosts that their URLs may have, possibly with scheme and port; empty for any host with https and port 443. */
  readonly hosts: readonly string[];
  /** The path to the address of a record that is not an account; empty for none. */
  readonly mail: string;
}

/** A pattern like `orders.*`. The admin service validates webhooks' own patterns by the same rules. */
const pattern = boundedText(255).regex(/^(\*|[^\s*]+(\.\*)?)$/, 'must be an event pattern');

/** A host name with an optional first label `*`, scheme and port. */
const host = boundedText(255)
  .toLowerCase()
  .regex(
    /^(https?:\/\/)?(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$/,
    'must be a host like hooks.example.com, *.example.com or https://*.example.com:8443',
  );

const wholeMax = 'must be a whole number from 1 to 100';

const owners = settingObject({
  manage_rule: z.string('must be a string').default(''),
  events: z.array(pattern, 'must be a list of patterns').min(1).max(100).default(['*']),
  max: z.int(wholeMax).min(1, wholeMax).max(100, wholeMax).default(10),
  hosts: z.array(host, 'must be a list of hosts').max(100).default([]),
  mail: boundedText(255, 'must be a path').default(''),
});

/** The setting's text: a JSON object. */
const ownersText = jsonText<WebhookOwners>(owners).describe('a JSON object {manage_rule, events, max, hosts, mail}');

/** The collections whose records may own webhooks. Without its setting, a collection's records own none. */
export const webhookOwnerFamilies = {
  'webhooks.owners.<collection>': unsetSetting<WebhookOwners, undefined>(
    ownersText,
    undefined,
    'Lets the records of the collection own webhooks: JSON {manage_rule, events, max, hosts, mail}. manage_rule says who manages them.',
  ),
} as const;

/** Whether an owner's webhook may get an event with this name (webhooks §9.1). */
export const mayOwnersGet = ({ events }: Pick<WebhookOwners, 'events'>, event: string): boolean =>
  events.some((one) => one === '*' || one === event || (one.endsWith('.*') && event.startsWith(one.slice(0, -1))));

/** Returns why an owner's webhook may not have the URL; undefined if it may (webhooks §9.1). */
export function findOwnerUrlProblem({ hosts }: Pick<WebhookOwners, 'hosts'>, url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed && (hosts.length === 0 ? isPlainHttps(parsed) : hosts.some((allowed) => isAllowed(allowed, parsed))))
    return undefined;
  return hosts.length === 0
    ? 'must be an https URL with port 443'
    : `must have one of these hosts and ports: ${hosts.join(', ')}`;
}

const isPlainHttps = ({ protocol, port }: URL): boolean => protocol === 'https:' && port === '';

function isAllowed(allowed: string, { protocol, hostname, port }: URL): boolean {
  const [, scheme = 'https:', name = '', at = ''] = /^(?:(https?:)\/\/)?([^:]+)(?::([0-9]+))?$/.exec(allowed) ?? [];
  const defaultPort = scheme === 'https:' ? '443' : '80';
  const isHost = name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name;
  return isHost && protocol === scheme && (port || defaultPort) === (at || defaultPort);
}
