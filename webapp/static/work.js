// The work page: drafts as you type, the lease, and keys.
import "./work-draft.js";
import "./work-lease.js";
import "./work-keys.js";
