import type { Query } from '@recordbus/database';
import { loadCollections } from '@recordbus/schema';
import type pg from 'pg';
import { type Finding, fine } from './finding.ts';

const subject = 'durability';

/** Names the collections whose writes do not wait for the disk (collections §1.6). */
export async function examineDurability(client: pg.Client): Promise<Finding[]> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const { collections } = await loadCollections(query);
  const relaxed = collections.filter(({ durability }) => durability === 'relaxed').map(({ name }) => name);
  if (relaxed.length === 0) return [fine(subject, 'every write waits for the disk')];
  return [fine(subject, `writes to these collections do not wait for the disk: ${relaxed.sort().join(', ')}`)];
}
