import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Ground, type Stack, type StackTopology, startStack, usualEnvironment } from './stack.ts';

/** A line from a borrower: the stack that it wants or, at the end, its return. */
export type BorrowerLine = StackWish | { readonly giveBack: StackTopology };

export interface StackWish {
  readonly borrow: StackTopology;
  /** Whether it must be new. */
  readonly isNew: boolean;
}

/** A line from the pool: the stack, or why there is none; then every line that the stack writes. */
export type LenderLine = { readonly stack: LentStack } | { readonly failure: string } | { readonly line: string };

export type LentStack = Pick<Stack, 'url' | 'setupToken' | 'services' | 'natsUrl'> &
  Pick<Ground, 'databaseUrl' | 'secret'>;

/** A test run's running stacks, lent to one file after the other, since most files take less time than a start. */
export interface StackPool {
  /** Host and port for borrowers. A stack is lent while the connection is open. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Opens a pool. It starts a stack when none is idle, and stops one that was not returned, since its state is unknown. */
export async function openStackPool(): Promise<StackPool> {
  const idle: Record<StackTopology, Stack[]> = { one: [], processes: [], replicas: [] };
  const lendings = new Set<Promise<void>>();

  async function lend(socket: Socket): Promise<void> {
    const send = (line: LenderLine): void => {
      socket.write(`${JSON.stringify(line)}\n`);
    };
    let stack: Stack | undefined;
    let stopListening = (): void => {};
    try {
      for await (const line of createInterface({ input: socket })) {
        const wish: BorrowerLine = JSON.parse(line);
        if ('borrow' in wish) {
          // A new stack takes an idle one's place: the pool has no more stacks than files run at once.
          const waiting = idle[wish.borrow].pop();
          if (wish.isNew) await waiting?.stop();
          else stack = waiting;
          stack ??= await startStack({ topology: wish.borrow, environment: usualEnvironment });
          stopListening = stack.process.onLine((written) => send({ line: written }));
          send({ stack: lentStack(stack) });
        } else if (stack) {
          stopListening();
          idle[wish.giveBack].push(stack);
          stack = undefined;
        }
      }
    } catch (error) {
      send({ failure: String(error) });
    }
    stopListening();
    await stack?.stop();
  }

  const server = createServer((socket) => {
    // A killed borrower closes its connection with an error, which needs no handling.
    socket.on('error', () => {});
    const lending = lend(socket).finally(() => lendings.delete(lending));
    lendings.add(lending);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      await Promise.all(lendings);
      await Promise.all(
        Object.values(idle)
          .flat()
          .map((stack) => stack.stop()),
      );
    },
  };
}

const lentStack = ({ url, setupToken, services, natsUrl, ground }: Stack): LentStack => ({
  url,
  setupToken,
  services,
  natsUrl,
  databaseUrl: ground.databaseUrl,
  secret: ground.secret,
});
