export { mount } from './layers/mount.js';
export { type ObserveOptions, type OperationEvent, observe } from './layers/observe.js';
export { type OverlayOptions, overlay } from './layers/overlay.js';
export { readonly } from './layers/readonly.js';
export { type Access, type AccessRequest, type Guard, restrict, type StateCall } from './layers/restrict.js';
