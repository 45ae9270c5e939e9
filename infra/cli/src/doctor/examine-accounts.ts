import { useOf } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { accountAddress, type Collection, loadCollections, tableOf } from '@recordbus/schema';
import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

const subject = 'accounts';

/** At most this many unusual addresses per collection are examined. */
const maxExamined = 100_000;

/** A finding names at most this many accounts. */
const maxNamed = 10;

/** Addresses whose canonical form is at most another case of them (fields §3.4). */
const plain = '^[A-Za-z0-9_+-]+([.][A-Za-z0-9_+-]+)*@([A-Za-z0-9-]+[.])+[A-Za-z]+$';

/** Examines the addresses and password hashes of accounts (auth §1.3, §2.2). */
export async function examineAccounts(client: pg.Client): Promise<Finding[]> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const { collections } = await loadCollections(query);
  const findings: Finding[] = [];
  for (const collection of collections.filter(({ type }) => type === 'auth'))
    findings.push(...(await examineAddresses(query, collection)), ...(await examineHashes(query, collection)));
  return findings.length > 0
    ? findings
    : [fine(subject, 'every address takes mail, and every password can be checked')];
}

async function examineAddresses(query: Query, collection: Collection): Promise<Finding[]> {
  const rows = await query<{ id: string; email: string }>({
    text: `select id, email from ${tableOf(collection)}
      where email <> '' and (email !~ $1 or email ilike '%xn--%') order by id limit $2`,
    values: [plain, maxExamined],
  });
  const [refused, doubled]: [string[], string[]] = [[], []];
  for (const { id, email } of rows) {
    const { data: canonical } = accountAddress.safeParse(email);
    if (canonical === undefined) refused.push(id);
    else if (canonical.toLowerCase() !== email.toLowerCase()) doubled.push(id);
  }
  return [
    ...(refused.length === 0
      ? []
      : [
          warning(
            subject,
            `${refused.length} in ${collection.name} cannot receive mail: ${named(refused)}`,
            'They can still sign in. Give them other addresses: until then they get no mail and cannot be changed.',
          ),
        ]),
    ...(doubled.length === 0
      ? []
      : [
          warning(
            subject,
            `${doubled.length} in ${collection.name} share their mailbox with another account: ${named(doubled)}`,
            'They can sign in only with the address exactly as stored. Give one account another address.',
          ),
        ]),
  ];
}

/** Hashes with the same parameters are alike, so one example is enough. */
async function examineHashes(query: Query, collection: Collection): Promise<Finding[]> {
  const rows = await query<{ sample: string; count: number }>({
    text: `select min(password_hash) as sample, count(*)::int as count from ${tableOf(collection)}
      where password_hash is not null
      group by case when password_hash like '$2_$%' then left(password_hash, 7)
        else regexp_replace(password_hash, '[$][^$]*[$][^$]*$', '') end`,
    values: [],
  });
  const count = rows
    .filter(({ sample }) => ['weak', 'unusable'].includes(useOf(sample)))
    .reduce((sum, row) => sum + row.count, 0);
  if (count === 0) return [];
  return [
    warning(
      subject,
      `${count} in ${collection.name} need a password reset: their imported hash is too costly or unsupported`,
      'They can use "forgot password" or sign in with a mailed code.',
    ),
  ];
}

const named = (ids: readonly string[]): string =>
  ids.slice(0, maxNamed).join(', ') + (ids.length > maxNamed ? ', …' : '');
