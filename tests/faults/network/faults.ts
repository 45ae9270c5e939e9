import type { LinkName, PlayedLink, ProxiedProduct } from './product.ts';
import { slowDiskOfNats, slowDiskOfPostgres } from './slow-disks.ts';

/** A fault between two parts, or in one part. */
export interface Fault {
  readonly name: string;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
  /** How long it lasts, in milliseconds. */
  readonly lastsMs: number;
  /** Whether the gateway can serve nothing during the fault, and reports that. */
  readonly isToldByReadiness?: boolean;
  /** Whether the answer is lost on its way to the client, where no product limit applies. */
  readonly isBeforeTheProduct?: boolean;
}

/** A fault on the connections between two parts. */
interface NetworkFault {
  readonly name: string;
  begin(link: PlayedLink): void;
  readonly lastsMs: number;
  /** Whether the fault lasts so long that the parts lose each other. */
  readonly isLoss?: true;
}

const networkFaults: readonly NetworkFault[] = [
  // Every answer comes at least 200 ms later.
  { name: 'latency of 100 ms', begin: (link) => link.slow({ latencyMs: 100 }), lastsMs: 8000 },
  { name: '20 kB/s for each connection', begin: (link) => link.slow({ bytesPerSecond: 20_000 }), lastsMs: 8000 },
  // The operating system resends lost packets, so a program only sees that nothing passes for a while.
  { name: 'nothing passes for 3 s', begin: (link) => link.stall(), lastsMs: 3000 },
  { name: 'refused for 5 s', begin: (link) => link.cut(), lastsMs: 5000, isLoss: true },
  { name: 'open connections are forgotten', begin: (link) => link.forget(), lastsMs: 0 },
  // Longer than every timeout in the product.
  { name: 'nothing passes for 45 s', begin: (link) => link.stall(), lastsMs: 45_000, isLoss: true },
];

/** Parts without which the gateway is not ready. */
const needed: ReadonlySet<string> = new Set<LinkName>(['gateway to services', 'services to PostgreSQL']);

/** The faults in the slow tests. All faults would take minutes. */
const shortest: ReadonlySet<string> = new Set([
  'gateway to services: nothing passes for 3 s',
  'services to PostgreSQL: nothing passes for 3 s',
]);

/** Returns the faults that TEST_FAULTS chooses: all, those whose name contains it, or by default the shortest. */
export function chosenFaults({ links, postgres, nats }: ProxiedProduct): readonly Fault[] {
  const wanted = process.env.TEST_FAULTS;
  const ofLinks = Object.entries(links).flatMap(([between, link]) =>
    networkFaults.map(
      ({ name, begin, lastsMs, isLoss = false }): Fault => ({
        name: `${between}: ${name}`,
        begin: () => begin(link),
        end: () => link.restore(),
        lastsMs,
        isToldByReadiness: isLoss && needed.has(between),
        isBeforeTheProduct: between === 'clients to gateway',
      }),
    ),
  );
  const all = [...ofLinks, slowDiskOfPostgres(postgres), slowDiskOfNats(nats)];
  if (wanted === 'all') return all;
  return all.filter(({ name }) => (wanted === undefined ? shortest.has(name) : name.includes(wanted)));
}
