#!/usr/bin/env node
'use strict';
// Like `npm run cli`, from any directory.
process.argv.splice(2, 0, 'cli');
require('../../launch/launch.cjs');
