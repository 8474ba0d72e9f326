//! The input of the checks: the packages of a workspace, the arrows between them, and their files.

use std::path::{Path, PathBuf};

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};

#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceError {
    #[error("cargo metadata: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    #[error("{path}: {source}", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: {source}", path = path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{path}: this is not Rust", path = path.display())]
    Syntax { path: PathBuf },
    #[error("{name}: line {line} is not understood")]
    Table { name: &'static str, line: usize },
}

/// The packages of one workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<WorkspaceMember>,
}

/// One package and the packages of this tree that it depends on.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceMember {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) is_published: bool,
    pub(crate) description: String,
    pub(crate) arrows: Vec<CrateArrow>,
    /// The crates of others that the manifest names.
    pub(crate) dependencies: Vec<String>,
    /// Each test program that needs a feature, with the feature.
    pub(crate) test_features: Vec<(String, String)>,
    /// Each package of which this one turns a feature on, perhaps only by a feature of its own, with the feature.
    pub(crate) features_on: Vec<(String, String)>,
}

/// A dependency on a package of this tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrateArrow {
    pub(crate) to: String,
    pub(crate) is_dev: bool,
}

impl Workspace {
    pub(crate) fn load(manifest: Option<PathBuf>) -> Result<Self, WorkspaceError> {
        let mut command = MetadataCommand::new();
        // Only what the manifests say is needed: no registry is asked.
        command.no_deps();
        if let Some(path) = manifest {
            command.manifest_path(path);
        }
        Ok(Self::from_metadata(&command.exec()?))
    }

    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        let names: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
        let packages =
            metadata.packages.iter().map(|package| WorkspaceMember::new(package, &names)).collect();
        Self { root: metadata.workspace_root.clone().into(), packages }
    }
}

impl WorkspaceMember {
    fn new(package: &Package, names: &[&str]) -> Self {
        // A path outside the workspace is an arrow too: to a crate that the plan does not know.
        let (ours, others): (Vec<_>, Vec<_>) = package
            .dependencies
            .iter()
            .partition(|dependency| dependency.path.is_some() || names.contains(&dependency.name.as_str()));
        let arrow = |dependency: &&Dependency| CrateArrow {
            to: dependency.name.clone(),
            is_dev: dependency.kind == DependencyKind::Development,
        };
        let tests = package.targets.iter().filter(|target| target.is_test());
        let test_features = tests.flat_map(|test| {
            test.required_features.iter().map(|feature| (test.name.clone(), feature.clone()))
        });
        let by_dependency = package.dependencies.iter().flat_map(|dependency| {
            dependency.features.iter().map(|feature| (dependency.name.clone(), feature.clone()))
        });
        // `name = ["package/feature"]`
        let by_feature = package.features.values().flatten().filter_map(|effect| effect.split_once('/'));
        let by_feature = by_feature.map(|(package, feature)| (package.to_owned(), feature.to_owned()));
        Self {
            name: package.name.to_string(),
            folder: package.manifest_path.parent().map(|folder| folder.into()).unwrap_or_default(),
            is_published: package.publish.as_ref().is_none_or(|registries| !registries.is_empty()),
            description: package.description.clone().unwrap_or_default(),
            arrows: ours.iter().map(arrow).collect(),
            dependencies: others.iter().map(|dependency| dependency.name.clone()).collect(),
            test_features: test_features.collect(),
            features_on: by_dependency.chain(by_feature).collect(),
        }
    }
}

/// Returns every `.rs` file below `folder` in order of path, without build outputs and hidden folders.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let mut files = Vec::new();
    collect_files(folder, &has_rust_extension, &mut files)?;
    files.sort();
    Ok(files)
}

/// True for a file that a generator wrote: its language is that of its source.
pub(crate) fn is_generated(path: &Path) -> bool {
    path.iter().any(|name| name == "generated")
}

/// Returns every file below `root` whose language is checked: sources, documents, settings and packaging.
pub(crate) fn text_files(root: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let packaging = root.join("packaging");
    let is_text = |path: &Path| {
        let extension = path.extension().unwrap_or_default();
        ["rs", "md", "toml", "proto", "sql"].iter().any(|known| extension == *known)
            || path.file_name().is_some_and(|name| name == "Makefile")
            || path.starts_with(&packaging)
    };
    let mut files = Vec::new();
    collect_files(root, &|path| is_text(path) && !is_generated(path), &mut files)?;
    files.sort();
    Ok(files)
}

/// Reads the text of a file.
pub(crate) fn read(path: &Path) -> Result<String, WorkspaceError> {
    std::fs::read_to_string(path).map_err(|source| WorkspaceError::Read { path: path.to_owned(), source })
}

/// Replaces a file by this text.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), WorkspaceError> {
    std::fs::write(path, text).map_err(|source| WorkspaceError::Write { path: path.to_owned(), source })
}

fn has_rust_extension(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "rs")
}

fn collect_files(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
) -> Result<(), WorkspaceError> {
    let fault = |source| WorkspaceError::Read { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let (name, path) = (entry.file_name(), entry.path());
        let kind = entry.file_type().map_err(fault)?;
        if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            collect_files(&path, is_wanted, files)?;
        } else if kind.is_file() && is_wanted(&path) {
            files.push(path);
        }
    }
    Ok(())
}
