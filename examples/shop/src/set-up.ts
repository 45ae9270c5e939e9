import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnySchema, type Client, createClient } from '@recordbus/client';

const directory = join(import.meta.dirname, '../schema/collections');
const password = 'a long password';

/** A customer: a company, and one of its people, signed in. */
export interface Customer {
  readonly title: string;
  readonly company: string;
  readonly client: Client<AnySchema>;
}

/** Applies this directory's schema. */
export async function applySchema(admin: Client<AnySchema>): Promise<void> {
  const files = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')));
  const schema = { version: 1 as const, collections: files };
  const { hash, changes } = await admin.admin.collections.schema.plan({ schema });
  if (changes.length > 0) await admin.admin.collections.schema.apply({ schema, hash });
}

/** Lets companies own webhooks, which their people manage. The receivers of this example are on this machine. */
export async function allowWebhooks(admin: Client<AnySchema>, receivers: readonly string[]): Promise<void> {
  const owners = {
    manage_rule: '@request.auth.company = id',
    events: ['orders.*'],
    hosts: receivers.map((url) => new URL(url).origin),
  };
  await admin.admin.settings.update({
    'hooks.http.allow': '127.0.0.1/32',
    'webhooks.owners.companies': JSON.stringify(owners),
  });
}

/** Makes a customer and signs its person in. */
export async function addCustomer(admin: Client<AnySchema>, url: string, title: string): Promise<Customer> {
  const { id: company } = await admin.from('companies').create({ title });
  const email = `${title.toLowerCase()}@example.com`;
  await admin.from('people').create({ email, password, company });
  const client = createClient(url);
  await client.auth('people').login({ email, password });
  return { title, company, client };
}

/** Registers a customer's endpoint, with the customer's own session. Returns its secret. */
export async function registerEndpoint({ client, company, title }: Customer, url: string): Promise<string> {
  const owner = { collection: 'companies', id: company };
  const { secret } = await client.webhooks(owner).create({ name: title, url, events: ['orders.*'] });
  return secret;
}

/** A link to the page where the customer manages its webhooks. It opens once. */
export async function portalLink(admin: Client<AnySchema>, url: string, { company, title }: Customer): Promise<string> {
  const owner = { collection: 'companies', id: company };
  const { path } = await admin.admin.webhooks.portal({ owner, theme: { title, accent: '#0f766e' } });
  return url + path;
}
