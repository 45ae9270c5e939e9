import { type Client, createClient } from '../clients/client.ts';
import { eventually, Hopeless } from '../eventually.ts';
import { textAt } from '../json.ts';
import { type Child, endChild, startChild } from '../processes/child.ts';
import { programPath } from './program.ts';
import { environmentOf, type Ground, type ServiceName, type Stack } from './stack.ts';

/** A service in its own process: another replica in a stack. */
export interface ServiceProcess extends AsyncDisposable {
  readonly url: string;
  readonly process: Child;
  readonly guest: Client;
}

/** Starts a service replica on a stack's ground. Throws with its output when it does not become ready. */
export async function startServiceProcess(
  name: ServiceName,
  ground: Ground,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const child = startChild(process.execPath, [programPath(`services/${name}/src/main`)], {
    ipc: true,
    env: {
      ...process.env,
      ...environmentOf(ground),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: '0',
      ...environment,
    },
  });
  const end = async (): Promise<void> => {
    await endChild(child);
  };
  try {
    const url = await eventually(`the ${name} replica is ready`, () => {
      if (!child.isRunning) throw new Hopeless(child.lines.slice(-20).join('\n'));
      const [message] = child.messages;
      return message === undefined ? undefined : textAt(message, 'url');
    });
    return { url, process: child, guest: createClient(url), [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Starts a second gateway in front of a stack with topology `processes`. */
export const startSecondGateway = (
  { ground, services }: Stack,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> => {
  const urls = Object.entries(services).map(([name, { url }]) => [`SERVICE_${name.toUpperCase()}_URL`, url]);
  return startServiceProcess('gateway', ground, { ...Object.fromEntries(urls), ...environment });
};
