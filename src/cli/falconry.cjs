#!/usr/bin/env node
/**
 * The `falconry` command as npm installs it: on a Node that is too old it says so, else it hands
 * over to main.js. It is written so that every Node can read it, however old.
 */
'use strict';

var wanted = require('../../package.json').engines.node.replace(/^>=/, '');
var version = process.versions.node;
var text = 'falconry needs Node ' + wanted + ' or newer; this is Node ';

/** Whether version a, such as 20.20.2, is older than b, such as 22.13. */
function isOlder(a, b) {
  var left = a.split('.').map(Number);
  var right = b.split('.').map(Number);
  var i = 0;
  while (i < right.length && left[i] === right[i]) i++;
  return i < right.length && left[i] < right[i];
}

if (isOlder(version, wanted)) {
  text += version + ' (' + process.execPath + ')';
  if (process.argv.indexOf('--json') >= 0) {
    console.log(JSON.stringify({ ok: false, code: 'USAGE', message: text }));
  } else {
    console.error('falconry: ' + text + '\nTry: https://nodejs.org');
  }
  // The exit code of a wrong configuration (EXIT in lib/command.ts).
  process.exitCode = 2;
} else {
  require('./main.js').start();
}
