//! Compiled images on disk, by the hash of everything they depend on.

use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// `FUSEC_CACHE`, or `fusec` in the user's cache folder.
pub fn folder() -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os("FUSEC_CACHE") {
        return Some(dir.into());
    }
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")));
    base.map(|b| b.join("fusec"))
}

/// The key of an image; parts are kept apart, so that no two lists of parts are alike.
pub fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn path(key: &str) -> Option<PathBuf> {
    Some(folder()?.join(&key[..2]).join(format!("{key}.bin")))
}

/// The image of this key. An image carries its own hash, so a damaged file counts as absent.
pub fn read(key: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path(key)?).ok()?;
    let (sum, image) = bytes.split_at_checked(32)?;
    (Sha256::digest(image)[..] == *sum).then(|| image.to_vec())
}

/// Keeps an image. A cache that cannot be written to is no error: the image is compiled again.
pub fn write(key: &str, image: &[u8]) {
    let Some(path) = path(key) else { return };
    let Some(dir) = path.parent() else { return };
    if std::fs::create_dir_all(dir).is_err() {
        return;
    }
    // Readers see the whole file or none: rename is atomic.
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let n = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let scratch = dir.join(format!(".{key}.{}.{n}", std::process::id()));
    let bytes = [&Sha256::digest(image)[..], image].concat();
    if std::fs::write(&scratch, bytes).and_then(|()| std::fs::rename(&scratch, &path)).is_err() {
        let _ = std::fs::remove_file(&scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
    }

    #[test]
    fn a_damaged_image_counts_as_absent() {
        let key = key(&["a test of the cache", &std::process::id().to_string()]);
        assert_eq!(read(&key), None);
        write(&key, b"an image");
        let Some(path) = path(&key).filter(|p| p.exists()) else { return };
        assert_eq!(read(&key).as_deref(), Some(&b"an image"[..]));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[34] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(&key), None);
        std::fs::remove_file(path).unwrap();
    }
}
