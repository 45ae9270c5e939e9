import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { clearStack } from './clear-stack.ts';
import { callers, type Stack } from './stack.ts';
import type { BorrowerLine, LenderLine, LentStack, StackWish } from './stack-pool.ts';

/** A stack from the run's pool: it may have a first admin, and nothing else. */
interface BorrowedStack {
  readonly target: LentStack & Pick<Stack, 'guest' | 'admin' | 'user'> & { readonly logLines: readonly string[] };
  /** Clears the stack and returns it to the pool, which stops it when that fails. */
  giveBack(): Promise<void>;
}

/** Borrows a stack from the pool at `address` (host and port). Throws when none starts. */
export async function borrowStack(address: string, wish: StackWish): Promise<BorrowedStack> {
  const [host = '', port] = address.split(':');
  const socket = connect(Number(port), host);
  const send = (line: BorrowerLine): void => {
    socket.write(`${JSON.stringify(line)}\n`);
  };
  const logLines: string[] = [];
  const lent = await new Promise<LentStack>((resolve, reject) => {
    socket.on('error', reject).on('close', () => reject(new Error('the pool of stacks has closed')));
    createInterface({ input: socket }).on('line', (text) => {
      const line: LenderLine = JSON.parse(text);
      if ('line' in line) logLines.push(line.line);
      else if ('stack' in line) resolve(line.stack);
      else reject(new Error(line.failure));
    });
    send(wish);
  }).catch((error) => {
    // An open connection would keep the test file's process from ending.
    socket.destroy();
    throw error;
  });
  return {
    target: { ...lent, logLines, ...callers(lent.url, lent.setupToken, wish.borrow) },
    async giveBack() {
      try {
        await clearStack(await callers(lent.url, lent.setupToken, wish.borrow).admin());
        send({ giveBack: wish.borrow });
      } finally {
        socket.end();
      }
    },
  };
}
