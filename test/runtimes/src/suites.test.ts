import { describe, it } from 'vitest';
import { defineSuites } from './suites.js';

// Run by vitest in this Node and in a browser.
defineSuites({ describe, it });
