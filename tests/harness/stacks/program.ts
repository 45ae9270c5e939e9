import { join } from 'node:path';

const services = ['gateway', 'auth', 'records', 'admin', 'webhooks', 'realtime'].map(
  (name) => `services/${name}/src/main` as const,
);

/** The product's programs that tests start, as their sources' paths without `.ts`. */
export const programs: readonly string[] = ['infra/cli/src/main', 'infra/local/src/main', ...services];

/** Returns a program's path: in a bundle, by default the run's (`TEST_PRODUCT`), or its source. */
export const programPath = (name: string, bundle = process.env.TEST_PRODUCT): string =>
  bundle ? join(bundle, `${name}.mjs`) : join(import.meta.dirname, '../../..', `${name}.ts`);
