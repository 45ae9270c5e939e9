import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

const subject = 'search indexes';

interface IndexRow {
  readonly name: string;
  readonly building: boolean;
}

/** Examines whether search indexes hold every record (search §1.6). */
export async function examineSearch(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<IndexRow>(`
    select c.name || '.' || (i ->> 'name') as name, i ? 'isBuilding' as building
    from system.collections c cross join lateral jsonb_array_elements(c.indexes) i
    where i ->> 'type' = 'search' order by 1`);
  const building = rows.filter((row) => row.building).map(({ name }) => name);
  if (building.length === 0) return [fine(subject, `${rows.length} ready`)];
  return [
    warning(
      subject,
      `being built: ${building.join(', ')}`,
      'Searches answer 409 until then. The admin service builds them; if it takes long, its log has the reason.',
    ),
  ];
}
