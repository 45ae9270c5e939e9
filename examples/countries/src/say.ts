import { styleText } from 'node:util';
import type { CheckedDelivery } from './awaited-deliveries.ts';

/** Prints a progress line. */
export const say = (subject: string, text: string): void => {
  process.stdout.write(`  ${styleText('dim', subject.padEnd(8))} ${text}\n`);
};

const columns = [18, 14, 9, 5, 0] as const;

const row = (cells: readonly string[]): string =>
  `  ${cells.map((cell, index) => cell.padEnd(columns[index] ?? 0)).join(' ')}\n`;

/** Prints the delivery table's head. */
export const sayDeliveryHeader = (): void => {
  process.stdout.write(
    `\n${styleText('dim', row(['event', 'record', 'arrived', 'HMAC', 'Standard Webhooks']).trimEnd())}\n`,
  );
};

/** Prints a received delivery and the time since its change was sent. */
export function sayDelivery(delivery: CheckedDelivery): void {
  const { event, name, latencyMs, isSignedByHand, isSignedByStandard } = delivery;
  const verdict = (isGood: boolean) => (isGood ? 'ok' : 'WRONG');
  const arrived = latencyMs === undefined ? '' : `${latencyMs.toFixed(0)} ms`;
  const line = row([event, name, arrived, verdict(isSignedByHand), verdict(isSignedByStandard)]);
  process.stdout.write(isSignedByHand && isSignedByStandard ? line : styleText('red', line));
}
