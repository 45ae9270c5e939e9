import { fileURLToPath } from 'node:url';
import { startProcess } from '../child-process.ts';
import type { ClientCommand, ClientReport } from './live-clients.ts';

type OpenCommand = Extract<ClientCommand, { type: 'open' }>;

/** A product's clients, and their subscriptions. */
interface Opening extends Pick<OpenCommand, 'tokens' | 'after' | 'patienceMs'> {
  /** The product's URL. */
  readonly url: string;
  readonly subscription: object;
}

/** The process that holds the clients' connections. */
export interface ClientProcess extends AsyncDisposable {
  /** Opens a connection for each token. Returns how long it took, and how many failed. */
  open(opening: Opening): Promise<{ readonly seconds: number; readonly failures: number }>;
  /** Returns what arrived since the last report. */
  report(): Promise<ClientReport>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Starts the clients' process. */
export async function startClients(): Promise<ClientProcess> {
  const clients = startProcess(fileURLToPath(new URL('./live-clients.ts', import.meta.url)));
  await clients.message();
  const ask = async <T>(command: ClientCommand): Promise<T> => {
    clients.send(command);
    return clients.message<T>();
  };
  return {
    open({ url, subscription, ...rest }) {
      const { hostname: host, port } = new URL(url);
      return ask({ type: 'open', host, port: Number(port), subscription: JSON.stringify(subscription), ...rest });
    },
    report: () => ask({ type: 'report' }),
    close: () => ask({ type: 'close' }),
    [Symbol.asyncDispose]: () => clients.stop(),
  };
}
