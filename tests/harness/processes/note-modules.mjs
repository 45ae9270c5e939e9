import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Preloaded by a process (`--import`): adds a line to TEST_MODULES_FILE for every module that the process loads.
const { TEST_MODULES_FILE: file } = process.env;
if (file)
  registerHooks({
    load(url, context, next) {
      appendFileSync(file, `${process.argv[1]} ${url}\n`);
      return next(url, context);
    },
  });
