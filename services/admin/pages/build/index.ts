export { findBuild, type PagesBuild } from './find-build.ts';

/** The program that builds the pages into the directory named by its argument. */
export const buildProgram = new URL('main.ts', import.meta.url);
