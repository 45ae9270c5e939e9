import { isDeepStrictEqual } from 'node:util';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Problems } from '@recordbus/schema';
import { type NewWebhook, newSecret, newWebhook, type Webhook } from '../webhooks/webhook-schema.ts';
import { deliveryMembers } from '../webhooks/webhook-store.ts';
import type { Change, MemberChange } from './change.ts';
import { needsVariable, readText, type Variables } from './read-text.ts';
import type { WebhookFile } from './schema-document.ts';

/** A webhook in a file. */
interface WantedWebhook {
  readonly id: string | undefined;
  readonly webhook: NewWebhook;
  readonly hasSecret: boolean;
  /** The members whose variables were not given, and the variables: `secret`, `headers.Authorization`. */
  readonly missing: ReadonlyMap<string, string>;
}

/** The webhooks after the apply. */
export interface PlannedWebhooks {
  readonly created: readonly { readonly id: string | undefined; readonly webhook: NewWebhook }[];
  readonly changed: readonly { readonly id: string; readonly webhook: Partial<NewWebhook> }[];
  readonly dropped: readonly Webhook[];
  /** The files' webhooks, whose filters are checked with the collections after the apply. */
  readonly filters: readonly NewWebhook[];
  readonly changes: readonly Change[];
  /** The places whose variables were not given, and a sentence for each. */
  readonly missing: ReadonlyMap<string, string>;
}

const noWebhooks: PlannedWebhooks = {
  created: [],
  changed: [],
  dropped: [],
  filters: [],
  changes: [],
  missing: new Map(),
};

/** Compares the files' webhooks with the current ones. Adds what is wrong to `problems`. Runs in time slices. */
export async function planWebhooks(
  files: readonly WebhookFile[] | undefined,
  current: readonly Webhook[],
  { variables, problems }: { readonly variables: Variables; readonly problems: Problems },
): Promise<PlannedWebhooks> {
  if (files === undefined) return noWebhooks;
  const ids = new Set(files.flatMap(({ id }) => id ?? []));
  const matched = new Set<string>();
  const filters: NewWebhook[] = [];
  const planned = { created: [], changed: [], changes: [], missing: new Map() } as {
    created: PlannedWebhooks['created'][number][];
    changed: PlannedWebhooks['changed'][number][];
    changes: Change[];
    missing: Map<string, string>;
  };
  const slice = startSlice();
  for (const file of files) {
    if (slice.isOver()) await slice.pause();
    const wanted = readWebhook(file, variables, problems);
    if (!wanted) continue;
    const { name } = wanted.webhook;
    filters.push(wanted.webhook);
    const known = current.find(({ id }) => id === file.id);
    const named = current.filter((one) => one.name === name && !ids.has(one.id) && !matched.has(one.id));
    const before = known ?? (named.length === 1 ? named[0] : undefined);
    if (!known && named.length > 1) problems.add(`webhooks.${name}.id`, 'is needed: several webhooks have this name');
    if (before && matched.has(before.id)) problems.add(`webhooks.${name}.id`, 'is used in two files');
    if (before) matched.add(before.id);
    if (before) compare(before, wanted, planned);
    else {
      for (const [member, variable] of wanted.missing)
        planned.missing.set(`webhooks.${name}.${member}`, needsVariable(variable));
      planned.created.push({ id: wanted.id, webhook: wanted.webhook });
      planned.changes.push({ action: 'create', kind: 'webhook', name });
    }
  }
  const dropped = current.filter(({ id }) => !matched.has(id));
  planned.changes.push(...dropped.map(({ name }): Change => ({ action: 'drop', kind: 'webhook', name })));
  return { ...planned, dropped, filters };
}

/** Replaces a missing value while the others are checked. */
const placeholders = { url: 'https://placeholder.invalid', header: 'placeholder' };

function readWebhook(file: WebhookFile, variables: Variables, problems: Problems): WantedWebhook | undefined {
  const { id, secret, url, headers = {}, ...rest } = file;
  const missing = new Map<string, string>();
  const valueFrom = (member: string, value: unknown, placeholder: string): unknown => {
    const read = readText(value, variables);
    if (read && read.text === undefined) missing.set(member, read.variable ?? '');
    return read ? (read.text ?? placeholder) : value;
  };
  const body = {
    ...rest,
    url: valueFrom('url', url, placeholders.url),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, valueFrom(`headers.${name}`, value, placeholders.header)]),
    ),
    ...(secret !== undefined && { secret: valueFrom('secret', secret, newSecret()) }),
  };
  const result = newWebhook.safeParse(body);
  if (result.success) return { id, webhook: result.data, hasSecret: secret !== undefined, missing };
  for (const [path, message] of Object.entries(describeIssues(result.error, body)))
    problems.add(`webhooks.${String(file.name)}.${path}`, message);
  return undefined;
}

interface Planned {
  readonly changed: PlannedWebhooks['changed'][number][];
  readonly changes: Change[];
  readonly missing: Map<string, string>;
}

/** The members that a plan compares as they are. */
const plainMembers = ['enabled', ...deliveryMembers] as const;

function compare(before: Webhook, { webhook, hasSecret, missing }: WantedWebhook, planned: Planned): void {
  const change: Record<string, unknown> = {};
  const members: MemberChange[] = [];
  const { name } = webhook;
  for (const member of plainMembers) {
    if (missing.has(member) || isDeepStrictEqual(before[member], webhook[member])) continue;
    change[member] = webhook[member];
    members.push({ member, before: before[member], after: webhook[member] });
  }
  const headers = headersOf(before, webhook, missing, planned.missing);
  if (!isDeepStrictEqual(before.headers, headers)) {
    change.headers = headers;
    // The values may be secrets.
    members.push({ member: 'headers', before: Object.keys(before.headers), after: Object.keys(headers) });
  }
  if (hasSecret && !missing.has('secret') && before.secret !== webhook.secret) {
    change.secret = webhook.secret;
    members.push({ member: 'secret', before: '(secret)', after: '(another secret)' });
  }
  if (before.name !== name) {
    change.name = name;
    planned.changes.push({ action: 'rename', kind: 'webhook', name, from: before.name });
  }
  if (members.length > 0) planned.changes.push({ action: 'change', kind: 'webhook', name, changed: members });
  if (Object.keys(change).length > 0) planned.changed.push({ id: before.id, webhook: change });
}

/** Returns the headers after the change. A header whose variable is missing keeps its value. */
function headersOf(
  before: Webhook,
  { name: webhook, headers }: NewWebhook,
  missing: ReadonlyMap<string, string>,
  all: Map<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const variable = missing.get(`headers.${name}`);
      if (variable === undefined) return [name, value];
      const former = before.headers[name];
      if (former === undefined) all.set(`webhooks.${webhook}.headers.${name}`, needsVariable(variable));
      return [name, former ?? value];
    }),
  );
}
