import pg from 'pg';
import type { Server } from '../../harness/servers/server.ts';
import type { Fault } from './faults.ts';

const lastsMs = 8000;

/** Every commit waits 100 ms for its sync, the longest wait that PostgreSQL can be configured for. */
export const slowDiskOfPostgres = ({ url }: Server): Fault => ({
  name: 'PostgreSQL: every sync to disk takes 100 ms',
  begin: () => set(url, { fsync: 'on', commit_delay: '100000', commit_siblings: '0' }),
  end: () => set(url, { fsync: 'off', commit_delay: '0', commit_siblings: '5' }),
  lastsMs,
});

async function set(url: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = '${value}'`);
  await client.query('select pg_reload_conf()');
  await client.end();
}

/** The server works only a tenth of the time, because its waits for the disk cannot be made longer. */
export function slowDiskOfNats(nats: Server): Fault {
  let timer: NodeJS.Timeout | undefined;
  return {
    name: 'NATS: the server stands still for 90 of every 100 ms',
    begin() {
      timer = setInterval(() => {
        void nats.freeze();
        setTimeout(() => void nats.thaw(), 90);
      }, 100);
    },
    async end() {
      clearInterval(timer);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await nats.thaw();
    },
    lastsMs,
  };
}
